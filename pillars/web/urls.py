"""Addresses of the pages, under ``/judge/``."""

from django.urls import path

from pillars.web import views

app_name = "pillars"
urlpatterns = [
    path("pillars/", views.pillars_page, name="pillars"),
    path("pillar/<int:number>/", views.pillar_page, name="pillar"),
    path("pillar/<int:number>/threads/<int:thread_id>/", views.thread_page, name="thread"),
    path("upload/", views.upload_page, name="upload"),
]
